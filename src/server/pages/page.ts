/** A page without data: its script reads the data through the API, with the caller's token. */
export interface Page {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}
