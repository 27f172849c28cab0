"""Dashboards as code: ``python -m grafana`` writes ``dashboards/*.json``, classic JSON that every Grafana imports."""
