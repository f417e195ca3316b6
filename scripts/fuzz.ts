import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

/** Random requests to a server: `fuzz.ts [--seed 1] [--cases 10000] [--minutes 60]`. The same seed makes the same cases. */

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    cases: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '60' },
  },
})
const vitest = spawn('vitest', ['run', 'test/fuzz'], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_SEED: values.seed, FUZZ_CASES: values.cases, FUZZ_MINUTES: values.minutes },
})
vitest.once('exit', (code) => {
  process.exitCode = code ?? 1
})
