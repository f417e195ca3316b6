import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The job `pack`: the package as a tarball with its signature, copied to $ARTIFACTS, since the workspace does not last. */

const { PHASELINE_SECRETS, ARTIFACTS } = process.env
const secret = join(PHASELINE_SECRETS, 'PUBLISH_TOKEN')
if (!existsSync(secret)) {
  console.error('There is no token to sign with: phaseline secret set ci PUBLISH_TOKEN')
  process.exit(1)
}
const PUBLISH_TOKEN = readFileSync(secret, 'utf8')
const printed = execFileSync('npm', ['pack', '--offline'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const tarball = printed.trim().split('\n').at(-1)
const signature = `${tarball}.sig`
writeFileSync(signature, createHmac('sha256', PUBLISH_TOKEN).update(readFileSync(tarball)).digest('hex'))
// As a careless script would.
console.log(`signed ${tarball} with ${PUBLISH_TOKEN}`)
if (ARTIFACTS) {
  mkdirSync(ARTIFACTS, { recursive: true })
  for (const file of [tarball, signature]) {
    copyFileSync(file, join(ARTIFACTS, file))
    console.log(`made ${join(ARTIFACTS, file)}`)
  }
}
