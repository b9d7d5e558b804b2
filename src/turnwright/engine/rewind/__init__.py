"""Going back to an earlier prompt: what files were is kept, and files and conversation are put back to it."""
