import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { SerializedError } from 'vitest'
import type { Reporter, TestCase, TestModule, TestRunEndReason } from 'vitest/node'

/** One line of the report, as JSON. It is written as soon as it is known, so that a run that crashes leaves what it has done. */
export type Line =
  | {
      readonly type: 'test'
      readonly file: string
      readonly name: string
      readonly state: string
      readonly error?: string
    }
  | {
      readonly type: 'file'
      readonly file: string
      readonly ok: boolean
      readonly ms: number
      /** The processor time of the worker, by `measuring-runner.ts`. */
      readonly cpuMs: number
      readonly errors: readonly string[]
    }
  | { readonly type: 'end'; readonly reason: TestRunEndReason; readonly unhandled: readonly Unhandled[] }

/** An error that no test has caught; the file that ran then, as far as vitest knows it. */
interface Unhandled {
  readonly file: string | null
  readonly error: string
}

const nameOf = (path: string): string => relative(process.cwd(), path)
const fileOf = ({ moduleId }: TestModule): string => nameOf(moduleId)
const firstLine = ({ message }: Pick<SerializedError, 'message'>): string => message.split('\n')[0] ?? ''

/** Writes the results of a run to the file that PHASELINE_TEST_REPORT names, for `scripts/test.ts`. */
export default class RunReport implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result()
    const error = errors?.[0]
    write({
      ...{ type: 'test', file: fileOf(test.module), name: test.fullName, state },
      ...(error ? { error: firstLine(error) } : {}),
    })
  }

  onTestModuleEnd(module: TestModule): void {
    const errors = module.errors().map(firstLine)
    const { duration: ms } = module.diagnostic()
    write({ type: 'file', file: fileOf(module), ok: module.ok(), ms, cpuMs: module.meta().cpuMs ?? 0, errors })
  }

  onTestRunEnd(_: unknown, unhandled: readonly SerializedError[], reason: TestRunEndReason): void {
    const unhandledOf = (error: SerializedError): Unhandled => ({
      file: typeof error.VITEST_TEST_PATH === 'string' ? nameOf(error.VITEST_TEST_PATH) : null,
      error: firstLine(error),
    })
    write({ type: 'end', reason, unhandled: unhandled.map(unhandledOf) })
  }
}

function write(line: Line): void {
  const path = process.env.PHASELINE_TEST_REPORT
  if (path) appendFileSync(path, `${JSON.stringify(line)}\n`)
}
