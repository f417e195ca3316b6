import { readFile } from 'node:fs/promises'
import type { ArchivedStream, StreamLine } from './stream.ts'

/** The files of an archive. Each has the cursor of its last line, from which the next run continues. */
export interface Format {
  encode(lines: readonly StreamLine[], stream: ArchivedStream): Promise<string | Uint8Array>
  cursorOf(file: string): Promise<string>
}
export type FormatName = 'ndjson' | 'parquet'

const ndjson: Format = {
  encode: async (lines) => lines.map(({ text }) => `${text}\n`).join(''),
  async cursorOf(file) {
    const bytes = await readFile(file)
    const last = bytes.subarray(bytes.lastIndexOf('\n', bytes.length - 2) + 1)
    const { cursor } = JSON.parse(last.toString()) as { readonly cursor?: string }
    if (cursor === undefined) throw new TypeError('its last line has no cursor')
    return cursor
  },
}

const CURSOR = 'phaseline.cursor'
const parquet: Format = {
  async encode(lines, { columns }) {
    const { parquetWriteBuffer } = await import('hyparquet-writer')
    const columnData = Object.entries(columns).map(([name, type]) => ({
      ...{ name, type },
      data: lines.map(({ fields }) => columnValue(type, fields[name] ?? null)),
    }))
    const kvMetadata = [{ key: CURSOR, value: lines.at(-1)?.cursor ?? '' }]
    return new Uint8Array(parquetWriteBuffer({ columnData, kvMetadata, createdBy: 'phaseline' }))
  },
  async cursorOf(file) {
    const { asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet')
    const { key_value_metadata: values } = await parquetMetadataAsync(await asyncBufferFromFile(file))
    const cursor = values?.find(({ key }) => key === CURSOR)?.value
    if (cursor === undefined) throw new TypeError('it has no cursor')
    return cursor
  },
}

function columnValue(type: ArchivedStream['columns'][string], value: unknown): unknown {
  if (value === null) return null
  if (type === 'TIMESTAMP') return new Date(String(value))
  if (type === 'INT64') return BigInt(Number(value))
  return type === 'STRING' ? String(value) : value
}

export const FORMATS: Readonly<Record<FormatName, Format>> = { ndjson, parquet }
