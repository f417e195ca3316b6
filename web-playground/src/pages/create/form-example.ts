/** A form that is filled in with one click. */
export interface FormExample {
  readonly name: string
  readonly label: string
  /** What it shows. */
  readonly about: string
  /** What has to be there so that it comes to its end. */
  readonly needs: string
}
export interface TextExample extends FormExample {
  readonly text: string
}
