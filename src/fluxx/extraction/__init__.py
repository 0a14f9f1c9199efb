"""From a queued job to its result: dispatch, submit, poll, collect, finish."""
