/** Input and output of a paired workload. */
export interface Turn {
  /** The folder of the checkout that is measured: its server, client and writer, whose IPC is that of this bench. */
  readonly checkout: string
  readonly redisUrl: string
  /** Further settings of the server. */
  readonly env: Readonly<Record<string, string>>
  /** Part of the names of what is measured; null: all. */
  readonly only: string | null
  /** A new, empty database, in place of the one before; resolves to its URL. */
  freshDatabase(): Promise<string>
}
/** By name, with the unit. */
export type Figures = Readonly<Record<string, number>>
/** One turn of one checkout, with processes of its own: warm first, then measured. A file `paired/<name>.ts` exports it. */
export type Measure = (turn: Turn) => Promise<Figures>
