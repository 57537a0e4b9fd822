"""What the commands share: a help with sections and examples, and an option for every row of the table of settings."""

from collections.abc import Iterable
from typing import Any

import click

from gossamer.settings import TABLE, Setting
from gossamer.settings_values import show

_SHORT = {"max_urls": ["-u"]}
_METAVARS = {
    "duration": "DURATION",
    "size": "SIZE",
    "whole number": "N",
    "number": "X",
    "text": "TEXT",
    "list": "PATTERN",
    "header": "'NAME: VALUE'",
    "header value": "TEXT",
    "server": "ADDR[:PORT]",
    "file": "FILE",
    "credential": "'ORIGIN SCHEME SECRET'",
    "certificate": "'ORIGIN FILE [KEYFILE]'",
    "proxy": "URL",
}


class Command(click.Command):
    """A command whose help shows its options in sections and ends with examples.

    ``examples``: pairs of what follows the command's name and what that does.
    """

    def __init__(self, *args: Any, examples: Iterable[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is not None:
                section = option.section if isinstance(option, SettingOption) else "Options"
                sections.setdefault(section, []).append(record)
        for section in sorted(sections, key=lambda name: name == "Options"):  # the command's own ones last
            with formatter.section(section):
                formatter.write_dl(sections[section], col_max=34)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for arguments, effect in self.examples:
                formatter.write(f"  {ctx.command_path} {arguments}".rstrip() + f"\n      {effect}\n")


class SettingOption(click.Option):
    """The option of one setting. Its value stays text: settings_values parses it, as it does the environment's."""

    def __init__(self, setting: Setting) -> None:
        self.section = setting.section
        flag = setting.flag
        names = [f"{flag}/--no-{flag.removeprefix('--')}"] if setting.kind == "switch" else [flag]
        super().__init__(
            [*_SHORT.get(setting.name, []), *names, setting.name],
            default=None,
            multiple=setting.kind == "list",
            help=f"{setting.help}{_default_text(setting)}",
            **_type(setting),
        )


class SettingsCommand(Command):
    """A command with an option for every setting, or for those named; it gets what was given as ``flags``, by name."""

    def __init__(self, *args: Any, settings: Iterable[str] = tuple(TABLE), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.settings = tuple(settings)
        self.params += [SettingOption(TABLE[name]) for name in self.settings]

    def invoke(self, ctx: click.Context) -> Any:
        given = {name: ctx.params.pop(name) for name in self.settings}
        ctx.params["flags"] = {name: value for name, value in given.items() if value not in (None, ())}
        return super().invoke(ctx)


def _type(setting: Setting) -> dict[str, Any]:
    if setting.kind == "switch":
        return {"type": bool}
    if setting.choices:
        return {"type": click.Choice(setting.choices)}
    return {"type": str, "metavar": _METAVARS[setting.form or setting.kind]}


def _default_text(setting: Setting) -> str:
    if setting.kind == "list":
        return "; can be given several times"
    value = show(setting, setting.default)
    return f"  [{value}]" if value else ""
