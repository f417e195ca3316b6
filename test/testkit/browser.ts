import { spawnSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

/** A real browser, without a window. */

const HINT =
  'The tests need Chromium or Chrome. Install one, e.g.: sudo apt-get install -y chromium; or set CHROMIUM_PATH to it.'
const NAMES = [
  // It costs a quarter less of the processor than the browser with a window.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  'chromium',
  'google-chrome',
  'chromium-browser',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
/** The browser connects to the page's server only, even for its own services. */
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

let opened: Promise<Browser> | undefined

/**
 * The worker's browser: opened for the first test that needs it, it ends with the worker. A page in a context of its own has a
 * new, empty profile. Fails with the one line to run where there is no browser.
 */
export async function openBrowser(): Promise<Browser> {
  const browser = await opened?.catch(() => undefined)
  if (browser?.isConnected()) return browser
  opened = launchBrowser()
  return await opened
}

async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error(HINT)
  return await chromium.launch({ executablePath, args: FLAGS })
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
