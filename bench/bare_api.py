"""The floor of the API: a FastAPI endpoint that reads one row of the job table by its primary key, and nothing else.

Usage: bare_api.py DATABASE PORT
"""

import gc
import sys
from typing import Any
from uuid import UUID

import uvicorn
from fastapi import FastAPI
from sqlalchemy import create_engine, select

from fluxx.adapters.sql.dialects import OneSchema
from fluxx.adapters.sql.tables import job
from fluxx.cli import MADE_BETWEEN_COLLECTIONS


def app(url: str) -> FastAPI:
    if url.startswith("sqlite"):
        engine = create_engine(url, pool_size=50)
        engine.dialect.identifier_preparer = OneSchema(engine.dialect)
    else:
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), pool_size=50)
    api = FastAPI()

    @api.get("/job/{job_id}")
    def read(job_id: UUID) -> dict[str, Any]:
        with engine.connect() as connection:
            return dict(connection.execute(select(job).where(job.c.JobID == job_id)).mappings().one())

    return api


if __name__ == "__main__":
    gc.set_threshold(MADE_BETWEEN_COLLECTIONS)  # as the service does, or the ratio would flatter it
    gc.freeze()
    uvicorn.run(app(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", access_log=False)
