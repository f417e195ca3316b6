import { spawnSync } from 'node:child_process'
import { missingPackages } from '../test/ha/programs.ts'
import { installPackage } from '../test/testkit/debian.ts'

/** `npm run test:ha`: sets up what these tests need from Debian, and runs them. It is an error there to leave some out. */
for (const name of missingPackages()) {
  if (installPackage(name)) continue
  console.error(`${name} is not there, and cannot be installed: as root on Debian 12, apt-get install ${name}`)
  process.exit(1)
}
const PHASELINE_TEST_REQUIRE = [process.env.PHASELINE_TEST_REQUIRE, 'high-availability'].filter(Boolean).join(',')
const { status } = spawnSync('vitest', ['run', 'test/ha', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, PHASELINE_TEST_REQUIRE },
})
process.exit(status ?? 1)
