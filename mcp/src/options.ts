import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Bounds } from './plans.ts'

export const USAGE = `phaseline-mcp: answers of Phaseline over the Model Context Protocol

  phaseline-mcp [options]              over stdio
  phaseline-mcp --http 4100 [options]  over HTTP, at /mcp; each caller sends its own token

  --url URL            the server (PHASELINE_URL; http://127.0.0.1:4000/graphql)
  --token-file FILE    a token for stdio (PHASELINE_TOKEN, PHASELINE_TOKEN_FILE)
  --write VERBS        offers plan and apply for these verbs, such as cancel,retry; apply is that of manifests; all
  --project NAME       writes in this project alone; may be given several times
  --max COUNT          applies at most so many plans (10); over HTTP, for each token
  --approve            a person approves each plan, through the client
  --host ADDRESS       of --http (127.0.0.1)
  --allow-host NAME    a name by which callers reach --http, besides addresses and localhost
  --help, --version
`

export interface Options {
  readonly url: string
  readonly http: { readonly port: number; readonly host: string; readonly allowedHosts: readonly string[] } | null
  /** For stdio; empty for HTTP. */
  readonly token: string
  readonly bounds: Bounds | null
  readonly isApproved: boolean
}

/** @throws Error with a message for people */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): Options | 'help' | 'version' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: 'string' },
      'token-file': { type: 'string' },
      write: { type: 'string' },
      project: { type: 'string', multiple: true },
      max: { type: 'string', default: '10' },
      approve: { type: 'boolean', default: false },
      http: { type: 'string' },
      host: { type: 'string', default: '127.0.0.1' },
      'allow-host': { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
      version: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  if (values.version) return 'version'
  const bounds = boundsOf(values.write, values.project, numberOf('--max', values.max, 1_000_000))
  if (!bounds && (values.project || values.approve)) throw new Error('--project and --approve are of --write.')
  const http =
    values.http === undefined
      ? null
      : { port: numberOf('--http', values.http, 65_535), host: values.host, allowedHosts: values['allow-host'] }
  const token = http ? '' : tokenOf(values['token-file'], env)
  return {
    url: values.url ?? (env.PHASELINE_URL || 'http://127.0.0.1:4000/graphql'),
    http,
    token,
    bounds,
    isApproved: values.approve,
  }
}

function boundsOf(write: string | undefined, projects: readonly string[] | undefined, max: number): Bounds | null {
  if (write === undefined) return null
  const verbs = write.split(',').filter((verb) => verb !== '')
  if (verbs.length === 0) throw new Error('--write names verbs, such as cancel,retry, or all.')
  return { verbs: verbs.includes('all') ? null : new Set(verbs), projects: projects ? new Set(projects) : null, max }
}

function numberOf(name: string, text: string, most: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) <= most) return Number(text)
  throw new Error(`${name} takes a number up to ${most}.`)
}

function tokenOf(file: string | undefined, env: NodeJS.ProcessEnv): string {
  const named = file ?? (env.PHASELINE_TOKEN ? undefined : env.PHASELINE_TOKEN_FILE)
  const token = named ? readFileSync(named, 'utf8').trim() : (env.PHASELINE_TOKEN ?? '')
  if (token === '') throw new Error('There is no token: set PHASELINE_TOKEN, or give --token-file.')
  return token
}
