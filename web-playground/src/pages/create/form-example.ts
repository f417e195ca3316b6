/** Values that fill in a form with one click. */
export interface FormExample {
  readonly name: string
  readonly label: string
  /** The purpose of the example. */
  readonly about: string
  /** The example's requirements. */
  readonly needs: string
}
export interface TextExample extends FormExample {
  readonly text: string
}
