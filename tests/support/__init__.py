"""What several test folders share: the scripted engine, a real server process, a stub HTTP server."""
