import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A file or folder of this package, whether it runs as source or built. */
export function packagePath(path: string, folder: string = import.meta.dirname): string {
  const found = join(folder, path)
  return existsSync(found) ? found : packagePath(path, dirname(folder))
}
