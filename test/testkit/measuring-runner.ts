import { type RunnerTestSuite, TestRunner } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** The processor time of the worker while the tests of the file ran, in milliseconds; children of the worker not included. */
    cpuMs?: number
  }
}

/** Measures the processor time of each file: wall time depends on what runs beside it. A worker runs one file at a time. */
export default class MeasuringRunner extends TestRunner {
  #begun = process.cpuUsage()

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (suite.file === suite) this.#begun = process.cpuUsage()
    await super.onBeforeRunSuite(suite)
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    const { user, system } = process.cpuUsage(this.#begun)
    if (suite.file === suite) suite.meta.cpuMs = (user + system) / 1_000
    await super.onAfterRunSuite(suite)
  }
}
