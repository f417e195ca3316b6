import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those that take long: started last they would run on alone, with the other workers idle. */
const LONG = /\/test\/(chaos|faults|web|agents|e2e)\/|\/model\.test\.ts$/

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
