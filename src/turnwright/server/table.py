"""Every method that a client may call, by its wire name."""

from turnwright.server.methods import (
    auth,
    history,
    lifecycle,
    model,
    models,
    options,
    permissions,
    plan,
    runtime,
    secrets,
    session,
    tools,
    ui,
    workspaces,
)
from turnwright.server.methods.base import Table

METHODS: Table = {
    **runtime.METHODS,
    **auth.METHODS,
    **secrets.METHODS,
    **lifecycle.METHODS,
    **session.METHODS,
    **tools.METHODS,
    **permissions.METHODS,
    **ui.METHODS,
    **options.METHODS,
    **model.METHODS,
    **models.METHODS,
    **history.METHODS,
    **plan.METHODS,
    **workspaces.METHODS,
}
