"""Parts that several test packages share: servers, fakes and harnesses."""
