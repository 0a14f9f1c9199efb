"""Every setting, told once: its name in the environment, its meaning, its default.

Read from the environment, then ``.env``, then defaults (Azure App Configuration goes over them
all where it is configured). ``docs/configuration.md`` is generated from this class.
A setting that makes no sense raises ``Misconfigured`` with one clear line.
"""

import logging
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from fluxx.errors import Misconfigured
from fluxx.model.deadlines import Limits
from fluxx.scrubbing import secrets_of_setting
from fluxx.setting_kinds import BaseUrl, BearerKey, Container, HostName, Subscription, Topic, Url

Network = IPv4Network | IPv6Network
Seconds = Annotated[float, Field(gt=0, le=315_360_000, allow_inf_nan=False)]
"""A duration of at most ten years: what is larger is a slip, and would overflow dates."""


class Settings(BaseSettings):
    """The settings of one process. Durations are in seconds, sizes in bytes."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True)

    fluxx_home: Annotated[Path, AfterValidator(Path.absolute)] = Field(
        Path(".fluxx"), validate_default=True, description="Folder of the embedded database, blobs and secrets."
    )
    database_url: SecretStr | None = Field(
        None, description="SQLAlchemy URL of the database; unset: SQLite in FLUXX_HOME."
    )
    service_bus_connection_string: SecretStr | None = Field(
        None, description="Azure Service Bus by connection string; unset: topics in the database."
    )
    service_bus_namespace: HostName | None = Field(
        None, description="Azure Service Bus by namespace (…servicebus.windows.net) and identity."
    )
    topic_accepted_file: Topic = Field("accepted-file", description="Topic that announces accepted files.")
    topic_job_status: Topic = Field("job-status", description="Topic that job events are published to.")
    accepted_file_subscription: Subscription = Field(
        "fluxx-extraction", description="Subscription of TOPIC_ACCEPTED_FILE that the workers consume."
    )
    job_status_subscription: Subscription = Field(
        "fluxx-events", description="Subscription of TOPIC_JOB_STATUS that `fluxx events` browses."
    )
    storage_connection_string: SecretStr | None = Field(
        None, description="Azure Blob Storage by connection string; unset: a folder in FLUXX_HOME."
    )
    storage_account_url: Url | None = Field(None, description="Azure Blob Storage by account URL and identity.")
    storage_container: Container = Field("fluxx", description="Container that holds files and results.")
    key_vault_url: Url | None = Field(
        None, description="Azure Key Vault that holds the extractors' API keys; unset: a folder in FLUXX_HOME."
    )
    app_config_connection_string: SecretStr | None = Field(
        None, description="Azure App Configuration by connection string; its values go over all others."
    )
    app_config_endpoint: Url | None = Field(None, description="Azure App Configuration by endpoint and identity.")
    app_config_label: str | None = Field(
        None, description="Label of the values read from App Configuration; unset: those without a label."
    )
    registration_url: BaseUrl | None = Field(
        None, description="Base URL of the Registration API; unset: registrations are read from the database."
    )
    registration_api_key: BearerKey | None = Field(None, description="API key shown to REGISTRATION_URL (role read).")
    public_url: BaseUrl | None = Field(
        None,
        description="Base URL under which extractors reach this service's signed file URLs; unset: the address that is"
        " listened on, which must then be one address.",
    )
    max_submit_attempts: int = Field(5, ge=1, description="Submissions tried before a job fails.")
    submit_timeout_seconds: Seconds = Field(30.0, description="Longest wait for the answer to a submission.")
    poll_timeout_seconds: Seconds = Field(30.0, description="Longest wait for the answer to a poll.")
    max_poll_attempts: int = Field(720, ge=1, description="Answered polls before a job that is not ready fails.")
    max_poll_errors: int = Field(10, ge=1, description="Polls or downloads that fail in a row before the job fails.")
    poll_interval_seconds: Seconds = Field(5.0, description="Wait before the first poll.")
    poll_backoff_factor: float = Field(
        1.5, ge=1, le=100, allow_inf_nan=False, description="Growth of the wait from poll to poll."
    )
    poll_max_interval_seconds: Seconds = Field(60.0, description="Longest wait between polls.")
    retry_base_seconds: Seconds = Field(1.0, description="Wait after a first error; doubles, with full jitter.")
    retry_max_seconds: Seconds = Field(60.0, description="Longest wait after an error.")
    job_timeout_seconds: Seconds = Field(3600.0, description="Time from queued until a job is given up.")
    signed_url_ttl_seconds: Seconds = Field(
        3600.0, description="Life of a signed file URL; lengthened to the job's deadline where that is later."
    )
    max_inline_result_bytes: int = Field(16 * 2**20, ge=1024, description="Largest answer with an inline result.")
    max_result_bytes: int = Field(2 * 2**30, ge=1024, description="Largest result fetched from a resultUrl.")
    max_upload_bytes: int = Field(5 * 2**30, ge=1, description="Largest file taken by POST /files.")
    max_concurrency: int = Field(512, ge=1, description="Jobs worked on at the same time by one worker.")
    max_concurrency_per_extractor: int | None = Field(
        None, ge=1, description="Share of MAX_CONCURRENCY that one extractor may take; unset: half."
    )
    lease_seconds: float = Field(
        15.0, ge=1, le=86_400, allow_inf_nan=False, description="How long a claimed job stays with a silent worker."
    )
    retention_days: Annotated[float, Field(gt=0, le=36_500, allow_inf_nan=False)] | None = Field(
        None, description="Age in days at which ended jobs, their files and events are forgotten; unset: never."
    )
    egress_allowed_networks: Annotated[tuple[Network, ...], NoDecode] = Field(
        (), description="Private networks that extractors may be called in, comma-separated, e.g. 10.1.0.0/16."
    )
    api_keys: SecretStr | None = Field(
        None,
        description="Callers of the HTTP API, comma-separated, as `fluxx key new` prints them: `name:role:sha256`"
        " or `name:role:sha256:clientApplicationId`; unset (and no AUTH_ISSUER): loopback only, no keys.",
    )
    auth_issuer: Url | None = Field(
        None,
        description="Issuer whose tokens are taken beside API_KEYS, e.g. https://login.microsoftonline.com/{tenant}/v2.0.",
    )
    auth_audience: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Audiences of which a token must name one, comma-separated."
    )
    auth_client_application_claim: str | None = Field(
        None, description="Claim that binds a token to one client application; unset: tokens see them all."
    )
    rate_limit_per_second: float = Field(
        500.0,
        gt=0,
        le=1_000_000,
        allow_inf_nan=False,
        description="Requests a second that one caller may make to one process for long; ten seconds' worth at once.",
    )
    otel_exporter_otlp_endpoint: BaseUrl | None = Field(
        None,
        description="OpenTelemetry collector that traces are sent to, over OTLP/HTTP, e.g. http://localhost:4318;"
        " unset: no traces.",
    )
    log_format: Literal["console", "json"] = Field("console", description="Form of the log: console or json.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level logged.")

    @field_validator("egress_allowed_networks", mode="before")
    @classmethod
    def _networks(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return tuple(ip_network(part.strip(), strict=False) for part in value.split(",") if part.strip())

    @field_validator("auth_audience", mode="before")
    @classmethod
    def _audiences(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @field_validator("*", mode="before")
    @classmethod
    def _encodable(cls, value: Any) -> Any:
        """Refuse bytes of the environment that aren't UTF-8: no log, page or JSON could show the setting."""
        if isinstance(value, str | Path):
            try:
                str(value).encode()
            except UnicodeEncodeError:
                raise ValueError("is not text in UTF-8") from None
        return value

    @model_validator(mode="after")
    def _consistent(self) -> "Settings":
        if self.poll_max_interval_seconds < self.poll_interval_seconds:
            raise ValueError("POLL_MAX_INTERVAL_SECONDS must not be less than POLL_INTERVAL_SECONDS")
        if (self.max_concurrency_per_extractor or 0) > self.max_concurrency:
            raise ValueError("MAX_CONCURRENCY_PER_EXTRACTOR must not be more than MAX_CONCURRENCY")
        if bool(self.auth_issuer) != bool(self.auth_audience):
            raise ValueError("AUTH_ISSUER and AUTH_AUDIENCE must be set together")
        if self.topic_accepted_file.lower() == self.topic_job_status.lower():  # Service Bus sees no difference
            raise ValueError("TOPIC_ACCEPTED_FILE and TOPIC_JOB_STATUS must be two topics")
        return self

    @property
    def limits(self) -> Limits:
        """The numbers that end or pace a job."""
        return Limits(
            max_submit_attempts=self.max_submit_attempts,
            max_poll_attempts=self.max_poll_attempts,
            max_poll_errors=self.max_poll_errors,
            poll_interval=self.poll_interval_seconds,
            poll_backoff_factor=self.poll_backoff_factor,
            poll_max_interval=self.poll_max_interval_seconds,
            retry_base=self.retry_base_seconds,
            retry_cap=self.retry_max_seconds,
            job_timeout=self.job_timeout_seconds,
            lease=self.lease_seconds,
        )

    @property
    def keeps_blobs_in_folder(self) -> bool:
        """Whether files and results lie in FLUXX_HOME, no storage account being configured."""
        return self.storage_connection_string is None and self.storage_account_url is None

    @property
    def keeps_topics_in_database(self) -> bool:
        """Whether topics are rows of the database, no Service Bus being configured."""
        return self.service_bus_connection_string is None and self.service_bus_namespace is None

    @property
    def uses_home(self) -> bool:
        """Whether anything at all lies in FLUXX_HOME."""
        return self.database_url is None or self.keeps_blobs_in_folder or self.key_vault_url is None

    @property
    def extractor_share(self) -> int:
        """Jobs of one extractor that a worker works on at the same time."""
        return self.max_concurrency_per_extractor or max(1, self.max_concurrency // 2)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What of the secret settings must never be shown: they themselves, and the passwords and keys in them."""
        given = [getattr(self, name) for name in type(self).model_fields]
        return tuple(
            part
            for value in given
            if isinstance(value, SecretStr)
            for part in secrets_of_setting(value.get_secret_value())
        )

    @property
    def level(self) -> int:
        """``log_level`` as the logging module's number."""
        return logging.getLevelNamesMapping()[self.log_level.upper()]


def load(app_configuration: Mapping[str, str] | None = None, /, **overrides: Any) -> Settings:
    """Return the settings. Raises ``Misconfigured``, one line.

    What ``app_configuration`` holds (by field name, as text) goes over the environment, and
    ``overrides`` (by field name) over everything.
    """
    over = {name: value for name, value in (app_configuration or {}).items() if value}
    try:
        return Settings(**{**over, **overrides})
    except ValidationError as error:
        raise Misconfigured(_one_line(error)) from None
    except UnicodeDecodeError:
        raise Misconfigured(".env is not text in UTF-8") from None


def _one_line(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"]).upper()
    reason = first["msg"].removeprefix("Value error, ")
    return f"{name}: {reason}" if name else reason
