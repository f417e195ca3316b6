import { failuresOf, isFlake, judgeRun, longestFiles } from './judge-run.ts'
import { type Place, runVitest } from './run-vitest.ts'

const SHOWN = 10

/**
 * Runs tests; red is what is red twice. Each red file is run again, alone in one worker, and a line says which of its tests were
 * flaky. Returns whether the tests are green.
 */
export async function runTwice(
  args: readonly string[],
  {
    more = [],
    ...place
  }: Place & { /** Arguments of the first run only, such as files. */ more?: readonly string[] } = {},
): Promise<boolean> {
  const first = await runVitest([...args, ...more], place)
  console.log(['The longest files:', ...longestFiles(first, SHOWN)].join('\n'))
  const verdict = judgeRun(first)
  if (verdict.is === 'red') console.log(`Red: ${verdict.why}`)
  if (verdict.is !== 'again') return verdict.is === 'green'
  let isGreen = true
  for (const file of verdict.files) {
    const second = await runVitest([...args, file, '--maxWorkers', '1'], place)
    if (second.ended === 'interrupted') return false
    const isFlaky = isFlake(first, file, second)
    isGreen &&= isFlaky
    for (const { name, error } of failuresOf(first, file))
      console.log(`${isFlaky ? 'Flaky' : 'Red twice'}: ${file} > ${name}: ${error}`)
  }
  return isGreen
}
