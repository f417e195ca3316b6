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
      readonly errors: readonly string[]
    }
  | { readonly type: 'end'; readonly reason: TestRunEndReason; readonly unhandled: readonly string[] }

const fileOf = ({ moduleId }: TestModule): string => relative(process.cwd(), moduleId)
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
    write({ type: 'file', file: fileOf(module), ok: module.ok(), ms: module.diagnostic().duration, errors })
  }

  onTestRunEnd(_: unknown, unhandled: readonly SerializedError[], reason: TestRunEndReason): void {
    write({ type: 'end', reason, unhandled: unhandled.map(firstLine) })
  }
}

function write(line: Line): void {
  const path = process.env.PHASELINE_TEST_REPORT
  if (path) appendFileSync(path, `${JSON.stringify(line)}\n`)
}
