"""The one error that people see."""


class InputError(ValueError):
    """What a person gave cannot be used; the message is one line that says what, where and what to do.

    The command line prints the message alone and leaves with exit code 2.
    """
