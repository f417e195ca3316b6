import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

/** Replaces each asset by a `.gz` and a `.br`, so that the server need not compress, and has each once. */
export function compressed(): Plugin {
  return {
    name: 'phaseline-compressed',
    apply: 'build',
    async writeBundle({ dir }) {
      const folder = join(dir ?? '', 'assets')
      await Promise.all(
        (await readdir(folder)).map(async (file) => {
          const body = await readFile(join(folder, file))
          await writeFile(join(folder, `${file}.gz`), await promisify(gzip)(body, { level: 9 }))
          // Browsers accept it over HTTPS and on loopback only.
          await writeFile(join(folder, `${file}.br`), await promisify(brotliCompress)(body))
          await rm(join(folder, file))
        }),
      )
    },
  }
}
