"""The SDK: drive a runtime in this process, in a child process or over TCP."""
