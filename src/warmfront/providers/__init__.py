"""Where VMs come from. Every provider keeps the promise of `warmfront.providers.base.Provider`."""
