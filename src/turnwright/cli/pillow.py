"""What Pillow says of damaged pictures, kept off the stderr of our own process."""

import logging
import warnings


def silence() -> None:
    """Ignore it: the model is told of a picture that can't be shown.

    That is for the whole process, as pictures are decoded in threads, and `warnings.catch_warnings` is not
    made for these. An app that embeds the runtime may choose for itself.
    """
    warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")
    logging.getLogger("PIL").setLevel(logging.CRITICAL)
