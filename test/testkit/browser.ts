import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { until } from './wait.ts'

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

/** The process that starts the installation sets it to a file, which appears once the installation has ended. */
const INSTALLING = 'PHASELINE_INSTALLING_CHROMIUM'
const INSTALL = 'apt-get update; apt-get install -y --no-install-recommends chromium'

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
  const end = process.env[INSTALLING]
  if (end) await until(() => existsSync(end), { what: 'Chromium is installed', timeoutMs: 170_000 })
  const executablePath = findChromium()
  if (!executablePath) throw new Error(HINT)
  return await chromium.launch({ executablePath, args: FLAGS })
}

/**
 * Begins to install one where that can be done and there is none. Once for a whole run, since of two that install at the
 * same time one fails; tests that need it wait, the others need not. Returns what undoes the telling.
 */
export function provideChromium(): () => void {
  if (findChromium() || process.env.CHROMIUM_PATH || process.getuid?.() !== 0 || !runs('apt-get'))
    return () => undefined
  const end = join(mkdtempSync(join(tmpdir(), 'phaseline-chromium-')), 'end')
  process.env[INSTALLING] = end
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const shown = () => existsSync(dirname(end)) && writeFileSync(end, '')
  spawn('sh', ['-c', INSTALL], { stdio: 'ignore', env }).once('exit', shown)
  return () => rmSync(dirname(end), { recursive: true, force: true })
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
