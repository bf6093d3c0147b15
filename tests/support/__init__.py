"""What several test packages share: servers, fakes and harnesses."""
