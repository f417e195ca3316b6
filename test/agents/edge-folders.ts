import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The instances in the state folder of a simulated CRM, as `path revision`; `half`: the instance is incomplete. */
export async function instancesIn(state: string): Promise<readonly string[]> {
  const namesIn = async (path: string): Promise<readonly string[]> =>
    (await readdir(join(state, path)).catch(() => [])).filter((name) => /^[a-z]\w*$/.test(name))
  const revisionOf = async (path: string): Promise<string> => {
    const text = await readFile(join(state, path, 'spec.json'), 'utf8').catch(() => null)
    return `${path.replace('/apps/', '/')} ${text === null ? 'half' : JSON.parse(text).specRevision}`
  }
  const clusters = await namesIn('.')
  const apps = await Promise.all(
    clusters.map(async (cluster) => (await namesIn(`${cluster}/apps`)).map((app) => `${cluster}/apps/${app}`)),
  )
  return (await Promise.all([...clusters, ...apps.flat()].map(revisionOf))).toSorted()
}
