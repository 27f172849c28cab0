"""A report as Markdown, for a mail or a forum."""

from __future__ import annotations

from gateway.report.model import Report, Table, texts


def markdown(report: Report) -> str:
    """Verdict, tables, intervals as iperf prints them, environment."""
    lines = [f"# {report.title}", ""]
    lines += list(report.verdict)
    if not report.valid:
        lines += ["", "**Some numbers do not add up; those rows say so.**"]
    for section in report.sections:
        lines += ["", f"## {section.title}"]
        for line in section.lines:
            if line not in report.verdict:
                lines += ["", line]
        for table in section.tables:
            lines += ["", f"### {table.title}", "", *_table(table)]
        if section.preformatted:
            lines += ["", "```", *section.preformatted, "```"]
    if report.environment is not None:
        lines += ["", "## Environment", "", *_table(report.environment)]
    return "\n".join(lines) + "\n"


def _table(table: Table) -> list[str]:
    def line(cells: tuple[str, ...] | list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = ["---" if i < table.words else "---:" for i in range(len(table.head))]
    return [line(table.head), line(rule), *(line(row) for row in texts(table.rows))]
