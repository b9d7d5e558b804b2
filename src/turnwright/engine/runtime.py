"""The runtime: every live session, and those that lie in the store."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from turnwright import __version__
from turnwright.engine.clients import Client
from turnwright.engine.identity import Identities
from turnwright.engine.journal.journal import Journal
from turnwright.engine.journal.off_loop import OffLoop, Threads
from turnwright.engine.journal.ring import Ring
from turnwright.engine.lifecycle import summary
from turnwright.engine.lifecycle.checkout import context_of
from turnwright.engine.lifecycle.fork import fork
from turnwright.engine.lifecycle.idle_timeout import unload_unused
from turnwright.engine.lifecycle.leaving import leave_in_order
from turnwright.engine.lifecycle.listing import Catalogue, Listing
from turnwright.engine.lifecycle.resumption import announce_resume
from turnwright.engine.lifecycle.service import Service
from turnwright.engine.loop import guarded, serve
from turnwright.engine.models.endpoint import Endpoints
from turnwright.engine.permissions.approvals import Approvals
from turnwright.engine.secrets import Secrets
from turnwright.engine.session import Session
from turnwright.errors import InvalidParams, SessionInUse, SessionNotFound, StoreError, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.session import SessionStart
from turnwright.protocol.identity import Identity
from turnwright.protocol.options import Durability, SessionOptions
from turnwright.store.base import EventLog, EventStore, check_session_id
from turnwright.store.begun import check_begun
from turnwright.store.entry import Entry
from turnwright.tools.base import Tool

PRODUCER = "turnwright"
LOG_VERSION = 1
TEARDOWN_TIMEOUT = 5.0

log = logging.getLogger(__name__)

Listener = Callable[[summary.Lifecycle], None]


class Runtime:
    """Creates, finds, resumes and unloads sessions. Use it inside `async with`; it owns their tasks.

    A session that nobody has used for `idle_timeout` seconds lets go of its log and its history until it is
    named again; None keeps all.
    """

    def __init__(
        self,
        store: EventStore,
        endpoints: Endpoints,
        *,
        tools: Sequence[Tool] = (),
        home: Path,
        environment: Mapping[str, str] | None = None,
        secrets: Secrets | None = None,
        identities: Identities | None = None,
        durability: Durability = "turn",
        idle_timeout: float | None = None,
        off_loop: OffLoop | None = None,
    ) -> None:
        self.store = store
        self.home = home
        self.sessions: dict[str, Session] = {}
        self.lifecycle: list[Listener] = []
        self.endpoints = endpoints
        self.tools = tuple(tools)
        self._approvals = home / "turnwright" / "approvals.json"
        self._environment = dict(os.environ if environment is None else environment)
        self.secrets = secrets or Secrets()
        self._identities = identities
        self._durability: Durability = durability
        self._idle_timeout = idle_timeout
        self._threads = Threads()
        self._ring = Ring(self._threads.begin)
        self._off_loop = off_loop or self._ring.begin
        self._tasks: TaskGroup
        self._catalogue = Catalogue(store)
        self._listings: dict[str, Listing] = {}
        self._services: dict[str, Service] = {}

    async def __aenter__(self) -> "Runtime":
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        if self._idle_timeout:
            self._tasks.start_soon(unload_unused, self.sessions, self._idle_timeout, self._put_to_sleep)
        return self

    async def __aexit__(self, *error: object) -> bool | None:
        with anyio.CancelScope(shield=True), anyio.move_on_after(TEARDOWN_TIMEOUT):
            for session_id in tuple(self.sessions):
                with suppress(TurnwrightError):
                    await self.unload(session_id)
        self._tasks.cancel_scope.cancel()
        try:
            return await self._tasks.__aexit__(None, None, None)
        finally:
            try:
                with anyio.CancelScope(shield=True), anyio.move_on_after(TEARDOWN_TIMEOUT):
                    await self._ring.close()
            finally:
                self._close()

    def _close(self) -> None:
        self._threads.close()
        for session in self.sessions.values():  # those that a slow disk kept from ending in time
            self._listings[session.id].drop()
            session.journal.log.close()
        self.store.close()

    async def create(self, options: SessionOptions, client: Client) -> Session:
        """Start a new session. Raises InvalidParams, StoreError, or what the endpoint says."""
        identity = await self._identity(options)
        session_id = check_session_id(options.session_id or wire.new_id())
        if session_id in self.sessions:
            raise InvalidParams(f"sessionId: session {session_id} is live already")
        journal = self._journal(self.store.create(session_id))
        try:
            with journal.writing(briefly=True):
                session = self._load(session_id, options, journal, client, origin="new")
                session.identity = identity
                session.emit(
                    SessionStart(
                        session_id,
                        LOG_VERSION,
                        PRODUCER,
                        __version__,
                        wire.now(),
                        context_tier=None,
                        context=context_of(session.cwd),
                        already_in_use=False,
                        remote_steerable=False,
                        selected_model=options.model,
                        reasoning_effort=options.reasoning_effort,
                        session_limits=options.session_limits,
                        client_name=options.client_name,
                        file_change_tracking=options.enable_file_change_tracking or None,
                    )
                )
                if options.mode:
                    session.set_mode(options.mode)
                if options.agent:
                    session.agents.select(options.agent, field="agent")
        except TurnwrightError:
            self._forget(session_id)
            self.store.discard(session_id, journal.log)
            raise
        self._start(session)
        await session.journal.caught_up()
        self._say(summary.lifecycle("session.created", summary.metadata(session_id, session.journal.state)))
        return session

    async def resume(self, session_id: str, options: SessionOptions, client: Client) -> Session:
        """Take a session up again, live or from the store. Raises SessionNotFound or SessionInUse, and then
        nothing has changed.
        """
        identity = await self._identity(options)
        session = await self._staying(session_id, or_abandoned=bool(options.continue_pending_work))
        if session is not None:
            self._wake(session)
            with session.journal.writing():
                was_active = bool(session.clients)
                session.reconfigure(options)
                session.identity = identity or session.identity
                session.clients.attach(client, options)
                announce_resume(session, options, was_active=was_active, live=True)
                if options.agent:
                    session.agents.select(options.agent, field="agent")
            await session.journal.caught_up()
            return session
        journal = self._journal(self.store.open(session_id))
        try:
            journal.log.hold()
            check_begun(journal.log, session_id)  # while nothing was mended
            with journal.writing():
                session = self._load(session_id, options, journal, client, origin="resume")
                session.identity = identity
                announce_resume(session, options, was_active=False, live=False)
                if options.agent:
                    session.agents.select(options.agent, field="agent")
        except TurnwrightError:
            self._forget(session_id)
            journal.log.close()
            raise
        self._start(session)
        await session.journal.caught_up()
        return session

    async def identify(self, token: str) -> Identity | None:
        """Whose token it is; None when nobody can tell. Raises ConfigError when the token is refused."""
        return await self._identities.find(token) if self._identities else None

    async def _identity(self, options: SessionOptions) -> Identity | None:
        token = options.git_hub_token
        return (await self.identify(token) or Identity()) if token else None

    def find(self, session_id: str) -> Session:
        """The live session of that id, awake. Raises SessionNotFound, or what `resume` does."""
        session = self.sessions.get(session_id)
        if session is None:
            raise SessionNotFound(f"Session not found: {session_id}")
        self._wake(session)
        session.use.touch()
        return session

    def _wake(self, session: Session) -> None:
        """Resume a session that nobody had used for a while; its clients and their tools are still there."""
        if session.journal.is_asleep:
            session.journal.wake(self.store.open(session.id))
            with session.journal.writing():
                announce_resume(session, session.options, was_active=bool(session.clients), live=False)

    def _put_to_sleep(self, session: Session) -> None:
        try:
            self._say_shutdown(session, "routine", "Nobody has used the session for a while.")
        except StoreError as error:
            log.warning("session %s: %s", session.id, error)
        session.journal.sleep()

    def _awake(self, session_id: str) -> Session | None:
        """The session of that id, if it is live and what it says is in memory."""
        session = self.sessions.get(session_id)
        return None if session is None or session.journal.is_asleep else session

    async def unload(
        self, session_id: str, *, kind: str = "routine", reason: str | None = None, keep_pending: bool = True
    ) -> None:
        """End a live session's work and let go of its log. What waits for a client may stay pending there.

        It ends though whoever asks for it is gone meanwhile. Raises SessionNotFound, and StoreError when its
        last events could not be logged.
        """
        session = self.sessions.get(session_id)
        if session is None:
            raise SessionNotFound(f"Session not found: {session_id}")
        service = self._services[session_id]
        if service.is_ending:
            await service.over.wait()
            return  # another asked for it first, and hears how it went
        session.questions.leave_open = keep_pending and bool(session.journal.state.questions)
        service.end(kind, reason)
        await service.over.wait()
        if service.failure is not None:
            raise StoreError(service.failure.message)

    async def _staying(self, session_id: str, *, or_abandoned: bool) -> Session | None:
        """The live session of that id, once none leaves; one that is abandoned has to, or may stay."""
        while service := self._services.get(session_id):
            session = self.sessions.get(session_id)
            if session is None or service.is_ending:
                await service.over.wait()
            elif session.is_abandoned and not or_abandoned:
                await self.unload(session_id, keep_pending=False)
            else:
                return session
        return None

    async def _leave(self, session: Session, service: Service) -> None:
        """Log a session's shutdown and let go of it. A bug there ends no other session."""
        if not session.journal.is_asleep:
            service.failure = await guarded(session, self._shut_down(session, service))
        del self.sessions[session.id]
        listing = self._listings.pop(session.id)
        listing.tell()  # what could not be ended has news still
        listing.drop()
        try:
            await session.journal.close()
        finally:
            del self._services[session.id]
            service.over.set()

    async def _shut_down(self, session: Session, service: Service) -> None:
        self._say_shutdown(session, service.kind, service.reason)

    def _say_shutdown(self, session: Session, kind: str, reason: str | None) -> None:
        """The last events for now, unless another process writes the session. Raises StoreError."""
        with suppress(SessionInUse), session.journal.writing(briefly=True):
            leave_in_order(session)
            state, size = session.journal.state, session.journal.log.size
            session.emit(
                summary.shutdown(state, size=size, sizes=session.context_sizes(), kind=kind, reason=reason)
            )
            self._listings[session.id].end()

    async def delete(self, session_id: str) -> None:
        """Remove a session and its log. Raises SessionNotFound."""
        if session_id in self.sessions:
            await self.unload(session_id)
        elif leaving := self._services.get(session_id):
            await leaving.over.wait()
        entry = self.metadata(session_id)
        self.store.delete(session_id)
        self._say(summary.lifecycle("session.deleted", entry))

    def fork(
        self, session_id: str, *, before: str | None = None, name: str | None = None
    ) -> summary.SessionMetadata:
        """Copy a log, up to just before an event, into a new one. Raises SessionNotFound, StoreError."""
        entry = fork(self, session_id, before=before, name=name)
        self._say(summary.lifecycle("session.created", entry))
        return entry

    def events(self, session_id: str) -> list[Event]:
        """The persisted events of a session, live or not. Raises SessionNotFound."""
        if (session := self._awake(session_id)) is not None:
            return session.journal.events()
        journal = Journal(self.store.open(session_id))
        try:
            return journal.events()
        finally:
            journal.log.close()

    def metadata(self, session_id: str) -> summary.SessionMetadata:
        """A session's entry in the list. Raises SessionNotFound."""
        if (session := self._awake(session_id)) is not None:
            return summary.metadata(session_id, session.journal.state)
        return summary.listed(self.store.entry(session_id))

    def list(self) -> list[summary.SessionMetadata]:
        """Every session that was ever prompted, the one used last first."""
        return [found for entry in self.store.entries() if (found := self._listed(entry)).summary]

    def last(self) -> str | None:
        """The session that was used last, of those that were ever prompted."""
        return next((entry.session_id for entry in self.list()), None)

    def _listed(self, entry: Entry) -> summary.SessionMetadata:
        live = self._awake(entry.session_id)
        return summary.metadata(live.id, live.journal.state) if live else summary.listed(entry)

    def _load(
        self, session_id: str, options: SessionOptions, journal: Journal, client: Client, *, origin: str
    ) -> Session:
        session = Session(
            session_id,
            options,
            journal,
            endpoints=self.endpoints,
            tools=self.tools,
            folder=self.store.folder(session_id),
            approvals=Approvals(self._approvals),
            environment=self._environment,
            secrets=self.secrets,
            home=self.home,
            origin=origin,
        )
        session.clients.attach(client, options)
        listing = self._listings[session_id] = Listing(session, self._catalogue, self._say)
        session.journal.subscribers.append(listing.follow)
        self.sessions[session_id] = session
        return session

    def _forget(self, session_id: str) -> None:
        """Drop a session that couldn't be begun."""
        if self.sessions.pop(session_id, None):
            self._listings.pop(session_id).drop()

    def _journal(self, event_log: EventLog) -> Journal:
        return Journal(event_log, durability=self._durability, off_loop=self._off_loop)

    def _start(self, session: Session) -> None:
        service = self._services[session.id] = Service()
        self._tasks.start_soon(self._serve, session, service)
        session.journal.bring_name_to_disk()

    async def _serve(self, session: Session, service: Service) -> None:
        try:
            async with service.group as session.background:
                await serve(session)
        finally:  # also when a signal ends the whole runtime
            with anyio.CancelScope(shield=True):
                await self._leave(session, service)

    def _say(self, news: summary.Lifecycle) -> None:
        for listener in tuple(self.lifecycle):
            listener(news)
