import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The job `pack`: the package as a tarball with its signature, copied to $ARTIFACTS, since the workspace does not last. */

const { PUBLISH_TOKEN, ARTIFACTS } = process.env
if (!PUBLISH_TOKEN) {
  console.error('There is no token to sign with: phaseline secret set ci PUBLISH_TOKEN')
  process.exit(1)
}
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
