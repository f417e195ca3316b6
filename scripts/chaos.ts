import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

/** Faults of every kind under all families: `chaos.ts [--seed 1] [--minutes 10] [--without fill-disk,failover]`. The same seed has the same faults. */

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    without: { type: 'string', default: '' },
  },
})
const vitest = spawn('vitest', ['run', 'test/chaos/chaos.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, CHAOS_SEED: values.seed, CHAOS_MINUTES: values.minutes, CHAOS_WITHOUT: values.without },
})
vitest.once('exit', (code) => {
  process.exitCode = code ?? 1
})
