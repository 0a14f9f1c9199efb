"""What the Registration API takes: bodies checked for their form here, for their sense in ``registering``.

An unknown key is an error: a misspelt ``pollingUrl`` must not pass in silence.
"""

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic.alias_generators import to_camel

from fluxx.ports.secrets import ApiKey
from fluxx.registration.registering import LONGEST_NAME, ExtractorChange
from fluxx.registration.urls import LONGEST_URL


class RequestBody(BaseModel):
    """The mould of all bodies: camelCase keys, nothing unknown."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", hide_input_in_errors=True)


class NewClientApplication(RequestBody):
    """A client application to register."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["Invoices"])


class NewExtractor(RequestBody):
    """An extractor to register. The key goes to the vault and is never shown again."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["OCR"])
    extraction_url: str = Field(
        max_length=LONGEST_URL,
        description="Where files are submitted to: absolute, http or https, no user name, no fragment.",
        examples=["https://ocr.example.com/extract"],
    )
    polling_url: str | None = Field(
        None,
        max_length=LONGEST_URL,
        description="Where jobs are polled, `/{jobId}` appended; left out: at the extraction URL.",
        examples=["https://ocr.example.com/jobs"],
    )
    api_key: SecretStr | None = Field(None, description="Sent to the extractor as a bearer token.")

    @property
    def key(self) -> ApiKey | None:
        """The API key, if one was given."""
        return None if self.api_key is None else ApiKey(self.api_key.get_secret_value())


class ChangedExtractor(RequestBody):
    """What to change of an extractor; what is left out stays as it is."""

    name: str = Field(default_factory=str, min_length=1, max_length=LONGEST_NAME)
    extraction_url: str = Field(default_factory=str, max_length=LONGEST_URL)
    polling_url: str | None = Field(None, max_length=LONGEST_URL, description="null removes it.")
    is_active: bool = Field(default_factory=bool, description="false: no more jobs; true: jobs again.")
    api_key: SecretStr = Field(default_factory=lambda: SecretStr(""), description="A new key, for the vault.")

    @property
    def change(self) -> ExtractorChange:
        """The change that was asked for."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if "api_key" in given:
            given["api_key"] = ApiKey(self.api_key.get_secret_value())
        return ExtractorChange(**given)
