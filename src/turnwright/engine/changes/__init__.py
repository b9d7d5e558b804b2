"""What has changed in a workspace, by git or by what a session kept track of."""
