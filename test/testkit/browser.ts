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

/** Has a new, empty profile, which goes when it is closed. Fails with the one line to run where there is no browser. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error(HINT)
  return await chromium.launch({ executablePath, args: FLAGS })
}

/** Installs one where that can be done. Once for a whole run: of two that install at the same time one fails. */
export function provideChromium(): void {
  if (findChromium() || process.env.CHROMIUM_PATH || process.getuid?.() !== 0 || !runs('apt-get')) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update'], { stdio: 'ignore', env })
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { stdio: 'ignore', env })
}

function findChromium(): string | undefined {
  const chosen = process.env.CHROMIUM_PATH
  return find(chosen ? [chosen] : NAMES)
}

/** The full path: the browser is started without a search. */
function find(names: readonly string[]): string | undefined {
  const name = names.find(runs)
  return name?.includes('/') ? name : name && spawnSync('which', [name]).stdout.toString().trim()
}
const runs = (name: string): boolean => spawnSync(name, ['--version']).status === 0
