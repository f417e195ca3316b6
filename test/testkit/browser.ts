import { spawnSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

/** A real browser, without a window. */

const HINT =
  'The tests need Chromium or Chrome. Install one, e.g.: sudo apt-get install -y chromium; or set CHROMIUM_PATH to it.'
const NAMES = [
  '/usr/bin/chromium',
  'chromium',
  'google-chrome',
  'chromium-browser',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
/** It speaks to nobody but the page's server, also for reasons of its own. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
]

/** Has a new, empty profile, which goes when it is closed. */
export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: ensureChromium(), args: FLAGS })
}

/** Installs one where that can be done; fails with the one line to run elsewhere. Nothing is skipped. */
function ensureChromium(): string {
  const chosen = process.env.CHROMIUM_PATH
  const found = find(chosen ? [chosen] : NAMES)
  if (found) return found
  if (chosen || process.getuid?.() !== 0 || !runs('apt-get')) throw new Error(HINT)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update'], { stdio: 'ignore', env })
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { stdio: 'ignore', env })
  const installed = find(NAMES)
  if (!installed) throw new Error(HINT)
  return installed
}

/** The full path: the browser is started without a search. */
function find(names: readonly string[]): string | undefined {
  const name = names.find(runs)
  return name?.includes('/') ? name : name && spawnSync('which', [name]).stdout.toString().trim()
}
const runs = (name: string): boolean => spawnSync(name, ['--version']).status === 0
