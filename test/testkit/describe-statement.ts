import { Client } from 'pg'
import type { Connection } from '../../src/store/pool.ts'

/** Postgres' description of a statement, without running it. */
export interface Description {
  /** Types of its parameters, by their numbers in Postgres. */
  readonly params: readonly number[]
  readonly fields: readonly Field[]
}
export interface Field {
  readonly name: string
  /** By its number in Postgres. */
  readonly type: number
  /** The column of a table or view that it is; 0 and 0: an expression. */
  readonly table: number
  readonly column: number
}

interface Wire {
  on(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void
  off(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void
  parse(message: { name: string; text: string; types: number[] }): void
  describe(message: { type: 'S'; name: string }): void
  sync(): void
}
interface RowDescription {
  readonly fields: readonly { name: string; dataTypeID: number; tableID: number; columnID: number }[]
}

/** Asks on a connection of its own: the protocol's Parse and Describe, which the driver only sends with an execution. */
export async function describeStatements(
  connection: Connection,
  texts: readonly string[],
): Promise<readonly (Description | Error)[]> {
  const client = new Client(connection)
  await client.connect()
  try {
    const found: (Description | Error)[] = []
    for (const text of texts) found.push(await describe(client, text))
    return found
  } finally {
    await client.end()
  }
}

const describe = (client: Client, text: string): Promise<Description | Error> =>
  new Promise((resolve) => {
    let wire: Wire
    let params: readonly number[] = []
    let fields: readonly Field[] = []
    const onParameters = (message: { dataTypeIDs: number[] }) => {
      params = message.dataTypeIDs
    }
    client.query({
      submit(connection: unknown) {
        wire = connection as Wire
        wire.on('parameterDescription', onParameters)
        wire.parse({ name: '', text, types: [] })
        wire.describe({ type: 'S', name: '' })
        wire.sync()
        return null
      },
      handleRowDescription(message: RowDescription) {
        fields = message.fields.map(({ name, dataTypeID, tableID, columnID }) => ({
          name,
          type: dataTypeID,
          table: tableID,
          column: columnID,
        }))
      },
      handleReadyForQuery() {
        wire.off('parameterDescription', onParameters)
        resolve({ params, fields })
      },
      handleError(error: Error) {
        wire.off('parameterDescription', onParameters)
        resolve(error)
      },
    } as never)
  })
