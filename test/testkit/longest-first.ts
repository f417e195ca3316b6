import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Long files: started last, they would run alone while the other workers are idle. */
const LONG = /\/test\/(chaos|faults|web|agents|e2e|runtimes)\/|\/model\.test\.ts$/

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
