import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { deserialize } from 'node:v8'
import type { Evidence } from '../test/chaos/evidence.ts'
import { violations } from '../test/chaos/promises/index.ts'

/**
 * Faults of every kind under all families: `chaos.ts [--seed 1] [--minutes 10] [--without fill-disk,failover]`. The same seed has the
 * same faults. `chaos.ts --judge <file>` judges the evidence of a run again.
 */

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    without: { type: 'string', default: '' },
    judge: { type: 'string' },
  },
})
if (values.judge === undefined) run()
else judge(deserialize(await readFile(values.judge)) as Evidence)

function judge(evidence: Evidence): void {
  const found = violations(evidence)
  console.log(JSON.stringify(found, null, 2))
  if (Object.keys(found).length > 0) process.exitCode = 1
}

function run(): void {
  const vitest = spawn('vitest', ['run', 'test/chaos/chaos.test.ts'], {
    stdio: 'inherit',
    env: { ...process.env, CHAOS_SEED: values.seed, CHAOS_MINUTES: values.minutes, CHAOS_WITHOUT: values.without },
  })
  vitest.once('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
