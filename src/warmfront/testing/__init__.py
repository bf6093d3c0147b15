"""Fakes for tests of an orchestrator: a provider and its listeners, with faults chosen by a seed.

Both run on any event loop. With `warmfront.simulate.virtual_time.run_virtual`, an hour takes milliseconds:

    async def main() -> None:
        clock = VirtualClock(asyncio.get_running_loop())
        provider = FakeProvider(clock=clock, faults=ProviderFaults(vanish=0.2))
        listeners = FakeListeners(provider, clock=clock)
        orchestrator = VMOrchestrator(provider=provider, listeners=listeners, clock=clock, ...)

    run_virtual(main())
"""
