// A scripted model server for chat completions. It answers at once, so what is measured is the runtime.
//
// The script stands in the prompt; the last one in a request counts:
//     SCRIPT{turns=100;tool=noop;command=exec_sleep_77;deltas=1;id=7}
// `turns` is the number of model calls: all but the last ask for `tool`, the last answers with `deltas` pieces
// of text. How far the conversation is shows in the tool results after the script. In `command`, an underscore
// stands for a space.
//
// GET /requests   one line a request: received, sent (seconds of CLOCK_MONOTONIC), id, bytes of its body
// POST /forget    empties that list
//
// One thread, epoll, no JSON parser. Prints its port. Build: cc -O2 -o model_server model_server.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    char *bytes;
    size_t length, capacity;
} Buffer;

typedef struct {
    int socket;
    Buffer in, out;
    size_t sent;  // of `out`
    long record;  // of the request that `out` answers, or -1
    int waits_to_write;
} Connection;

typedef struct {
    double received, sent;
    long id, body;
} Record;

typedef struct {
    long turns, deltas, id;
    char tool[64], command[256];
} Script;

static Record *records;
static long record_count, record_capacity;
static int epoll;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void reserve(Buffer *buffer, size_t more) {
    size_t wanted = buffer->length + more + 1;  // one for the final zero
    if (wanted <= buffer->capacity) return;
    while (buffer->capacity < wanted) buffer->capacity = buffer->capacity ? buffer->capacity * 2 : 16384;
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    if (!buffer->bytes) abort();
}

static void append(Buffer *buffer, const char *bytes, size_t length) {
    reserve(buffer, length);
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = 0;
}

static void print(Buffer *buffer, const char *format, ...) {
    va_list arguments;
    reserve(buffer, 1024);
    va_start(arguments, format);
    buffer->length += vsnprintf(buffer->bytes + buffer->length, 1024, format, arguments);
    va_end(arguments);
}

// Script

static void option(const char *script, const char *name, char *value, size_t room) {
    const char *end = strchr(script, '}');
    size_t length = strlen(name);
    for (const char *at = script; at && end && at < end; at = memchr(at, ';', end - at), at += at != NULL) {
        if (strncmp(at, name, length) || at[length] != '=') continue;
        size_t i = 0;
        for (at += length + 1; at < end && *at != ';' && i < room - 1; at++) value[i++] = *at == '_' ? ' ' : *at;
        value[i] = 0;
        return;
    }
}

static long number(const char *script, const char *name, long otherwise) {
    char text[32] = "";
    option(script, name, text, sizeof text);
    return *text ? atol(text) : otherwise;
}

static const char *last(const char *text, size_t length, const char *wanted) {
    const char *found = NULL, *at = text, *end = text + length;
    while ((at = memmem(at, end - at, wanted, strlen(wanted)))) found = at++;
    return found;
}

static long count(const char *text, const char *end, const char *wanted) {
    long found = 0;
    while ((text = memmem(text, end - text, wanted, strlen(wanted)))) found++, text++;
    return found;
}

// Answers

#define CHUNK                                                                                                 \
    "data: {\"id\":\"chatcmpl-%ld\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,"             \
    "\"model\":\"scripted\",\"choices\":["
#define DELTA CHUNK "{\"index\":0,\"delta\":"

static void event(Buffer *out, const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print(out, "%x\r\n", length + 2);
    append(out, text, length);
    append(out, "\n\n\r\n", 4);
}

static void stream(Buffer *out, long number, const Script *script, const char *arguments, long prompt_tokens) {
    print(out, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    if (arguments) {
        event(out,
              DELTA "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"index\":0,\"id\":\"call_%ld\","
                    "\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":\"\"}}]},"
                    "\"finish_reason\":null}]}",
              number, number, script->tool);
        event(out,
              DELTA "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"%s\"}}]},"
                    "\"finish_reason\":null}]}",
              number, arguments);
    } else {
        event(out, DELTA "{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}", number);
        for (long i = 0; i < script->deltas; i++)
            event(out, DELTA "{\"content\":\"piece%ld \"},\"finish_reason\":null}]}", number, i);
    }
    event(out, DELTA "{},\"finish_reason\":\"%s\"}]}", number, arguments ? "tool_calls" : "stop");
    event(out, CHUNK "],\"usage\":{\"prompt_tokens\":%ld,\"completion_tokens\":%ld}}", number, prompt_tokens,
          arguments ? 10 : script->deltas);
    event(out, "data: [DONE]");
    print(out, "0\r\n\r\n");
}

static void whole(Buffer *out, const char *status, const Buffer *body) {
    print(out, "HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n", status,
          body->length);
    append(out, body->bytes, body->length);
}

static void complete(Connection *connection, const char *body, size_t length) {
    Script script = {1, 1, -1, "noop", "true"};
    const char *found = last(body, length, "SCRIPT{"), *arguments = NULL;
    char command[512];
    if (record_count == record_capacity) {
        record_capacity = record_capacity ? record_capacity * 2 : 4096;
        records = realloc(records, record_capacity * sizeof *records);
        if (!records) abort();
    }
    connection->record = record_count++;
    if (found) {
        found += strlen("SCRIPT{");
        script.turns = number(found, "turns", 1);
        script.deltas = number(found, "deltas", 1);
        script.id = number(found, "id", 0);
        option(found, "tool", script.tool, sizeof script.tool);
        option(found, "command", script.command, sizeof script.command);
        if (count(found, body + length, "\"role\":\"tool\"") < script.turns - 1) {
            snprintf(command, sizeof command, "{\\\"command\\\":\\\"%s\\\"}", script.command);
            arguments = strcmp(script.tool, "bash") ? "{}" : command;
        }
    }
    records[connection->record] = (Record){now(), 0, script.id, length};
    stream(&connection->out, connection->record, &script, arguments, length / 4);
}

static void answer(Connection *connection, const char *path, const char *body, size_t length) {
    Buffer answer = {0};
    if (strstr(path, "/chat/completions")) {
        complete(connection, body, length);
        return;
    }
    reserve(&answer, 0);
    if (!strcmp(path, "/requests")) {
        for (long i = 0; i < record_count; i++)
            print(&answer, "%.7f %.7f %ld %ld\n", records[i].received, records[i].sent, records[i].id,
                  records[i].body);
    } else if (!strcmp(path, "/forget")) {
        record_count = 0;
    } else if (strstr(path, "/models")) {
        print(&answer, "{\"object\":\"list\",\"data\":[{\"id\":\"scripted\",\"object\":\"model\"}]}");
    } else {
        whole(&connection->out, "404 Not Found", &answer);
        free(answer.bytes);
        return;
    }
    whole(&connection->out, "200 OK", &answer);
    free(answer.bytes);
}

// Connections

static void drop(Connection *connection) {
    close(connection->socket);
    free(connection->in.bytes);
    free(connection->out.bytes);
    free(connection);
}

static void await_events(Connection *connection, int operation, int writable) {
    struct epoll_event wanted = {EPOLLIN | (writable ? EPOLLOUT : 0), {.ptr = connection}};
    epoll_ctl(epoll, operation, connection->socket, &wanted);
    connection->waits_to_write = writable;
}

// Each of these says whether the connection still stands.

static int flush(Connection *connection) {
    Buffer *out = &connection->out;
    while (connection->sent < out->length) {
        ssize_t sent = send(connection->socket, out->bytes + connection->sent, out->length - connection->sent, 0);
        if (sent < 0 && errno == EAGAIN) {
            if (!connection->waits_to_write) await_events(connection, EPOLL_CTL_MOD, 1);
            return 1;
        }
        if (sent < 0) return drop(connection), 0;
        connection->sent += sent;
    }
    if (connection->record >= 0 && connection->record < record_count) records[connection->record].sent = now();
    connection->record = -1;
    connection->sent = out->length = 0;
    if (connection->waits_to_write) await_events(connection, EPOLL_CTL_MOD, 0);
    return 1;
}

static int serve(Connection *connection) {
    Buffer *in = &connection->in;
    while (in->length && !connection->out.length) {
        char path[256], *end = memmem(in->bytes, in->length, "\r\n\r\n", 4);
        if (!end) return 1;
        *end = 0;
        if (sscanf(in->bytes, "%*15s %255s", path) != 1 || strcasestr(in->bytes, "\r\ntransfer-encoding:"))
            return drop(connection), 0;  // every client of this server tells the length of what it sends
        char *header = strcasestr(in->bytes, "\r\ncontent-length:");
        size_t body = header ? strtoul(header + strlen("\r\ncontent-length:"), NULL, 10) : 0;
        size_t head = end + 4 - in->bytes;
        *end = '\r';
        if (in->length < head + body) return reserve(in, head + body - in->length), 1;
        answer(connection, path, in->bytes + head, body);
        memmove(in->bytes, in->bytes + head + body, in->length - head - body);
        in->length -= head + body;
        if (!flush(connection)) return 0;
    }
    return 1;
}

static int receive(Connection *connection) {
    Buffer *in = &connection->in;
    for (;;) {
        reserve(in, 65536);
        ssize_t got = recv(connection->socket, in->bytes + in->length, in->capacity - in->length - 1, 0);
        if (got < 0 && errno == EAGAIN) return 1;
        if (got <= 0) return drop(connection), 0;
        in->length += got;
        in->bytes[in->length] = 0;
    }
}

static void welcome(int listener) {
    int socket, yes = 1;
    while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        Connection *connection = calloc(1, sizeof *connection);
        if (!connection) abort();
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        connection->socket = socket;
        connection->record = -1;
        await_events(connection, EPOLL_CTL_ADD, 0);
    }
}

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct epoll_event events[256], wanted = {EPOLLIN, {.ptr = NULL}};
    signal(SIGPIPE, SIG_IGN);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096) ||
        getsockname(listener, (struct sockaddr *)&address, &size)) {
        perror("model_server");
        return 1;
    }
    epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &wanted);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int ready = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            Connection *connection = events[i].data.ptr;
            if (!connection) {
                welcome(listener);
                continue;
            }
            if (events[i].events & EPOLLOUT && !flush(connection)) continue;
            if (events[i].events & ~EPOLLOUT && !receive(connection)) continue;
            serve(connection);
        }
    }
}
