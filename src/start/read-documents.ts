import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { documentHash } from '../server/operation/trusted-documents.ts'
import { StartProblem } from './start-problem.ts'

const MANIFEST = z.record(z.string(), z.string())

/**
 * The texts of the operator's trusted documents: of a folder, one in each file that ends with `.graphql`; of a JSON file, the
 * values of its object, whose keys are their SHA-256.
 * @throws StartProblem
 */
export async function readDocuments(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return []
  try {
    return (await stat(path)).isDirectory() ? await ofFolder(path) : await ofManifest(path)
  } catch (error) {
    if (error instanceof StartProblem) throw error
    throw new StartProblem(`PHASELINE_DOCUMENTS: ${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

async function ofFolder(path: string): Promise<readonly string[]> {
  const names = (await readdir(path, { recursive: true })).filter((name) => name.endsWith('.graphql'))
  return await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))
}

async function ofManifest(path: string): Promise<readonly string[]> {
  const parsed = MANIFEST.safeParse(JSON.parse(await readFile(path, 'utf8')))
  if (!parsed.success) throw new StartProblem(`PHASELINE_DOCUMENTS: ${path} must be an object of SHA-256 and document.`)
  for (const [hash, text] of Object.entries(parsed.data)) {
    if (hash.replace(/^sha256:/, '').toLowerCase() === documentHash(text)) continue
    throw new StartProblem(`PHASELINE_DOCUMENTS: ${hash} in ${path} is not the SHA-256 of its document.`)
  }
  return Object.values(parsed.data)
}
