"""The one exception of the bootstrap: something a person has to mend, and how."""


class SetupError(Exception):
    """Set-up cannot go on. Carries what went wrong, the one thing to do about it, and the exit status.

    Status 2: the person must change something first. Status 1: a step failed, and may work the next time.
    """

    def __init__(self, what: str, fix: str, status: int = 1) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix
        self.status = status

    def __str__(self) -> str:
        return f"{self.what}. Fix: {self.fix}"
