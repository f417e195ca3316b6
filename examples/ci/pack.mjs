import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The job `pack`: the package as a tarball with its signature, in the folder that it leaves as an artifact. */

const DIST = 'dist'
const { PHASELINE_SECRETS } = process.env
const secret = join(PHASELINE_SECRETS, 'PUBLISH_TOKEN')
if (!existsSync(secret)) {
  console.error('There is no token to sign with: phaseline secret set ci PUBLISH_TOKEN')
  process.exit(1)
}
const PUBLISH_TOKEN = readFileSync(secret, 'utf8')
mkdirSync(DIST, { recursive: true })
const printed = execFileSync('npm', ['pack', '--offline', '--pack-destination', DIST], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
})
const tarball = printed.trim().split('\n').at(-1)
const signature = createHmac('sha256', PUBLISH_TOKEN).update(readFileSync(join(DIST, tarball)))
writeFileSync(join(DIST, `${tarball}.sig`), signature.digest('hex'))
// As a careless script would.
console.log(`signed ${tarball} with ${PUBLISH_TOKEN}`)
