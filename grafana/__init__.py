"""Dashboards as code: ``python -m grafana`` writes ``dashboards/*.json``, the classic JSON that every Grafana imports."""
