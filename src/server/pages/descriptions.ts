import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DESCRIPTION_PATHS } from '../endpoints/endpoints.ts'
import type { Page } from './page.ts'

/** The descriptions of the API for programs, by their paths. */
export type Descriptions = ReadonlyMap<string, Page>

/** @param folder has the files; undefined: none is served */
export async function loadDescriptions(folder: string | undefined): Promise<Descriptions> {
  const found = await Promise.all(
    DESCRIPTION_PATHS.map(async (path) => {
      const body = folder === undefined ? null : await readFile(join(folder, path)).catch(() => null)
      return [path, body] as const
    }),
  )
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' }
  return new Map(found.flatMap(([path, body]) => (body ? [[path, { body, headers }]] : [])))
}
