"""Configuration: who may choose what, and who has the last word."""

import os
from pathlib import Path

import pytest

from turnwright import config
from turnwright.config import Choices, Chosen
from turnwright.errors import ConfigError
from turnwright.protocol.options import ProviderOptions
from turnwright.protocol.prices import LongContext, Prices
from turnwright.providers.model_facts import ModelFacts

USER = """
model = "big"
mode = "plan"
allow_tools = ["shell(git status)"]
deny_tools = ["shell(rm:*)"]

[endpoints.work]
base_url = "https://work.example/v1"
api_key_env = "WORK_KEY"
models = ["big", "small"]

[endpoints.attic]
base_url = "http://attic.example/v1"
api_key = "attic-key"
wire_api = "responses"
headers = { x-team = "blue" }
max_prompt_tokens = 8000
models = ["old"]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def write_user_file(home: Path, text: str = USER) -> Path:
    file = config.user_file(home)
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    return file


def test_nothing_configured_leaves_everything_open(home: Path, workspace: Path) -> None:
    configured = config.load(home, workspace, environment={})
    assert (configured.endpoint, configured.model, configured.mode, configured.warnings) == (
        None,
        None,
        None,
        (),
    )
    assert not home.exists()


def test_flags_beat_the_environment_and_it_beats_the_users_file_and_that_the_workspaces(
    home: Path, workspace: Path
) -> None:
    file = write_user_file(home)
    (workspace / ".turnwright.toml").write_text('model = "small"\nmode = "autopilot"\nstream = true\n')
    environment = {"TURNWRIGHT_MODEL": "from-environment"}
    flags = Choices(model="from-flag")
    models = [
        config.load(home, workspace, flags=flags, environment=environment).model,
        config.load(home, workspace, environment=environment).model,
        config.load(home, workspace, environment={}).model,
    ]
    assert models == [
        Chosen("from-flag", "flag"),
        Chosen("from-environment", "TURNWRIGHT_MODEL"),
        Chosen("big", str(file)),
    ]
    configured = config.load(home, workspace, environment={})
    assert configured.mode == Chosen("plan", str(file))
    assert configured.stream == Chosen(True, str(workspace / ".turnwright.toml"))


def test_how_durable_the_log_is_the_user_says_and_no_workspace(home: Path, workspace: Path) -> None:
    file = write_user_file(home, 'durability = "event"\n')
    (workspace / ".turnwright.toml").write_text('durability = "none"\n')
    environment = {"TURNWRIGHT_DURABILITY": "turn"}
    flags = Choices(durability="none")
    assert [
        config.load(home, workspace, flags=flags, environment=environment).durability,
        config.load(home, workspace, environment=environment).durability,
        config.load(home, workspace, environment={}).durability,
        config.load(workspace, environment={}).durability,
    ] == [
        Chosen("none", "flag"),
        Chosen("turn", "TURNWRIGHT_DURABILITY"),
        Chosen("event", str(file)),
        None,
    ]
    with pytest.raises(ConfigError, match="TURNWRIGHT_DURABILITY: must be turn, event or none, not 'yes'"):
        config.load(home, environment={"TURNWRIGHT_DURABILITY": "yes"})


def test_rules_of_every_place_add_up(home: Path, workspace: Path) -> None:
    write_user_file(home)
    (workspace / ".turnwright.toml").write_text('deny_tools = ["write(.env)"]\n')
    flags = Choices(allow_tools=("write",), deny_tools=("url",))
    configured = config.load(home, workspace, flags=flags, environment={})
    assert configured.allow_tools == ["write", "shell(git status)"]
    assert configured.deny_tools == ["url", "shell(rm:*)", "write(.env)"]


def test_the_endpoint_is_the_one_that_lists_the_model(home: Path) -> None:
    write_user_file(home)
    configured = config.load(home, flags=Choices(model="old"), environment={})
    assert configured.endpoint is not None
    assert configured.endpoint.options == ProviderOptions(
        "http://attic.example/v1",
        name="attic",
        wire_api="responses",
        api_key="attic-key",
        headers={"x-team": "blue"},
        max_prompt_tokens=8000,
    )


def test_an_endpoints_first_model_is_the_default(home: Path) -> None:
    write_user_file(home, '[endpoints.a]\nbase_url = "http://a.example"\nmodels = ["one", "two"]\n')
    chosen = config.load(home, environment={}).model
    assert chosen is not None
    assert chosen.value == "one"


def test_a_key_is_read_from_the_variable_that_the_file_names(home: Path) -> None:
    write_user_file(home)
    configured = config.load(home, environment={"WORK_KEY": "work-key"})
    assert configured.endpoint is not None
    assert (configured.endpoint.options.api_key, configured.endpoint.key_source) == ("work-key", "WORK_KEY")


def test_a_key_of_the_file_never_goes_to_an_endpoint_of_the_environment(home: Path) -> None:
    write_user_file(home)
    environment = {
        "TURNWRIGHT_BASE_URL": "http://elsewhere.example",
        "TURNWRIGHT_MODEL": "old",
        "WORK_KEY": "k",
    }
    configured = config.load(home, environment=environment)
    assert configured.endpoint is not None
    assert configured.endpoint.options == ProviderOptions("http://elsewhere.example")


def test_the_environment_alone_is_enough(home: Path) -> None:
    environment = {
        "TURNWRIGHT_BASE_URL": "http://llm.example/v1",
        "TURNWRIGHT_API_KEY": "key",
        "TURNWRIGHT_MODEL": "m",
        "TURNWRIGHT_PROVIDER_TYPE": "azure",
        "TURNWRIGHT_WIRE_API": "responses",
    }
    configured = config.load(home, environment=environment)
    assert configured.endpoint == config.Endpoint(
        ProviderOptions("http://llm.example/v1", type="azure", wire_api="responses", api_key="key"),
        "TURNWRIGHT_BASE_URL",
        "TURNWRIGHT_API_KEY",
    )
    assert configured.model == Chosen("m", "TURNWRIGHT_MODEL")


def test_a_workspace_cannot_choose_endpoints_or_keys_or_loosen_permissions(
    home: Path, workspace: Path
) -> None:
    write_user_file(home)
    found = workspace / ".turnwright.toml"
    found.write_text(
        'endpoint = "evil"\nallow_tools = ["shell"]\napi_key = "x"\n'
        'deny_tools = ["url"]\n[endpoints.evil]\nbase_url = "http://evil.example"\n'
    )
    with_file = config.load(home, workspace, environment={})
    without = config.load(home, None, environment={})
    assert (with_file.endpoint, with_file.allow_tools) == (without.endpoint, without.allow_tools)
    assert with_file.deny_tools == ["shell(rm:*)", "url"]
    assert with_file.warnings == (
        f"{found}: ignored allow_tools, endpoint, endpoints: a workspace's file can't choose endpoints or "
        f"keys, loosen permissions or risk the log; {config.user_file(home)} can",
        f"{found}: ignored api_key: there is no such setting; "
        "a workspace's file may set deny_tools, mode, model, reasoning_effort, stream",
    )


def test_a_workspace_chooses_a_model_among_those_configured_alone(home: Path, workspace: Path) -> None:
    write_user_file(home, USER.replace('model = "big"', ""))
    found = workspace / ".turnwright.toml"
    found.write_text('model = "old"\n')
    assert config.load(home, workspace, environment={}).model == Chosen("old", str(found))
    found.write_text('model = "dearest"\n')
    configured = config.load(home, workspace, environment={})
    assert configured.model == Chosen("big", str(config.user_file(home)))
    assert configured.warnings == (
        f"{found}: ignored model 'dearest': it is not among the `models` of an endpoint in "
        f"{config.user_file(home)}",
    )


def test_a_workspaces_file_is_found_from_a_folder_below_up_to_the_root_of_the_checkout(
    workspace: Path,
) -> None:
    below = workspace / "src" / "deep"
    below.mkdir(parents=True)
    (workspace.parent / ".turnwright.toml").touch()
    (workspace / ".turnwright.toml").touch()
    assert config.workspace_file(below) is None
    (workspace / ".git").mkdir()
    assert config.workspace_file(below) == workspace / ".turnwright.toml"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("model = ", "is not TOML"),
        (f"a = {'[' * 3000}{']' * 3000}", "nested too deeply"),
        (
            "[endpoints.a]\nbase_url = 'http://x'\nmax_prompt_tokens = 0",
            ": endpoints.a: max_prompt_tokens: Expected `int` >= 1",
        ),
        ("modle = 'x'", ": there is no field `modle`; there are: mode, model, models, reasoning_effort, "),
        ("mode = 'fast'", ": mode: must be autopilot, interactive or plan, not 'fast'"),
        ("[endpoints.a]\nbase_url = 3", ": endpoints.a: base_url: Expected `str`, got `int`"),
        (
            "[endpoints.a]\nbase_url = 'x'\ntype = 'open'",
            ": endpoints.a: type: must be anthropic, azure or openai, not 'open'",
        ),
        (
            "[models.a]\ncontext = 1000",
            ": models.a: there is no field `context`; there are: long_context, context_window, ",
        ),
        ("[endpoints.a]\ntype = 'openai'", ": endpoints.a: Object missing required field `base_url`"),
        ("[endpoints.'my own']\nbase_url = 3", ': endpoints."my own": base_url: Expected `str`, got `int`'),
        ("endpoints = ['a']", ": endpoints: Expected `object`, got `array`"),
        (
            "deny_tools = ['shell(rm)', 'shell(']",
            ": deny_tools[1]: Permission rule 'shell(': it must be KIND or KIND(ARGUMENT)",
        ),
        ("allow_tools = ['Write']", ": allow_tools[0]: Permission rule 'Write': the kind is written write"),
        ("endpoint = 'b'", "endpoint: there is no [endpoints.b]"),
    ],
)
def test_a_mistake_in_the_users_file_is_named(home: Path, text: str, complaint: str) -> None:
    file = write_user_file(home, text)
    with pytest.raises(ConfigError) as failed:
        config.load(home, environment={})
    assert str(failed.value).startswith(str(file))
    assert complaint in str(failed.value)


ENDPOINT = "[endpoints.a]\nbase_url = 'http://x'\n"
NO_ADDRESS = "the base URL of a model endpoint must be http://HOST or https://HOST, with a path"


@pytest.mark.parametrize(
    ("text", "environment", "complaint"),
    [
        ("[endpoints.a]\nbase_url = 'x.example/v1'", {}, f"{{file}}: endpoints.a: base_url: {NO_ADDRESS}"),
        (
            f"{ENDPOINT}headers = {{ 'X Team' = 'blue' }}",
            {},
            "{file}: endpoints.a: headers: 'x team' is no name for a header",
        ),
        (f'{ENDPOINT}api_key = "a\\u0000b"', {}, "{file}: endpoints.a: api_key: holds a control character"),
        (f"{ENDPOINT}api_key_env = 'KEY'", {"KEY": "a\0b"}, "KEY: holds a control character"),
        (ENDPOINT, {config.API_KEY: "a\0b"}, "TURNWRIGHT_API_KEY: holds a control character"),
        (ENDPOINT, {config.BASE_URL: "x.example"}, f"TURNWRIGHT_BASE_URL: {NO_ADDRESS}"),
        (
            f"{ENDPOINT}type = 'anthropic'\nwire_api = 'responses'",
            {},
            "{file}: endpoints.a: wire_api: 'responses' is an API of openai and azure, not of 'anthropic'",
        ),
        (
            f"{ENDPOINT}type = 'anthropic'",
            {config.WIRE_API: "responses"},
            "TURNWRIGHT_PROVIDER_TYPE or TURNWRIGHT_WIRE_API: "
            "'responses' is an API of openai and azure, not of 'anthropic'",
        ),
    ],
)
def test_what_cannot_work_of_an_endpoint_is_told_by_the_place_that_sets_it(
    home: Path, text: str, environment: dict[str, str], complaint: str
) -> None:
    file = write_user_file(home, text)
    with pytest.raises(ConfigError) as failed:
        config.load(home, environment=environment)
    assert str(failed.value) == complaint.format(file=file)


def test_a_mistake_in_a_workspaces_denials_is_no_permission(home: Path, workspace: Path) -> None:
    (workspace / ".turnwright.toml").write_text("deny_tools = 'shell'\n")
    with pytest.raises(ConfigError, match=r"\.turnwright\.toml: deny_tools: Expected `array`"):
        config.load(home, workspace, environment={})


def test_a_rule_in_a_workspaces_file_that_means_nothing_is_named(home: Path, workspace: Path) -> None:
    (workspace / ".turnwright.toml").write_text("deny_tools = ['memory(x)']\n")
    with pytest.raises(ConfigError, match=r"\.turnwright\.toml: deny_tools\[0\]: Permission rule"):
        config.load(home, workspace, environment={})


def test_a_provider_type_that_does_not_exist_is_named(home: Path) -> None:
    environment = {"TURNWRIGHT_BASE_URL": "http://x.example", "TURNWRIGHT_PROVIDER_TYPE": "magic"}
    with pytest.raises(ConfigError, match="TURNWRIGHT_PROVIDER_TYPE or TURNWRIGHT_WIRE_API: type: "):
        config.load(home, environment=environment)


def test_what_the_user_says_of_models_is_read_with_prices_whole(home: Path) -> None:
    write_user_file(
        home,
        '[models."team/big.1"]\ncontext_window = 9000\nmax_output_tokens = 700\nvision = false\n'
        "input_price = 1.5\noutput_price = 6\ncache_read_price = 0.1\n"
        '[models."team/big.1".long_context]\nabove = 5000\ninput_price = 3\noutput_price = 9\n'
        "[models.small]\ncontext_window = 500\n",
    )
    long = LongContext(3, 9, above=5000)
    assert config.load(home, environment={}).models == {
        "team/big.1": ModelFacts(9000, 700, False, Prices(1.5, 6, 0.1, None, long)),
        "small": ModelFacts(500),
    }


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("input_price = 1", "models.big: prices need both input_price and output_price"),
        ("cache_read_price = 1", "models.big: prices need both input_price and output_price"),
        ("output_price = -1\ninput_price = 1", "output_price"),
        ("context_window = 0", "context_window"),
        ("price = 1", "price"),
        (
            "long_context = { above = 9, input_price = 1, output_price = 2 }",
            "prices need both input_price and",
        ),
        ("long_context = { above = 0, input_price = 1, output_price = 2 }", "long_context.above"),
    ],
)
def test_what_cannot_be_said_of_a_model_is_refused_by_its_key(home: Path, line: str, fault: str) -> None:
    file = write_user_file(home, f'[models."big"]\n{line}\n')
    with pytest.raises(ConfigError) as refused:
        config.load(home, environment={})
    assert str(file) in str(refused.value)
    assert fault in str(refused.value)


def test_a_file_that_begins_with_a_byte_order_mark_is_read(home: Path) -> None:
    write_user_file(home, "\ufeffmodel = 'm'\n[endpoints.a]\nbase_url = 'http://x'\nmodels = ['m']")
    found = config.load(home, environment={})
    assert found.model is not None
    assert found.model.value == "m"


def test_a_pipe_in_the_place_of_the_users_file_is_not_waited_for(home: Path) -> None:
    file = write_user_file(home, "")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ConfigError, match=r"config\.toml is no regular file$"):
        config.load(home, environment={})
