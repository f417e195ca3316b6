import { useTitle } from '../../ui/title.ts'

/** Forms for whatever can be created. */
export default function CreatePage() {
  useTitle('Create')
  return (
    <div className="page">
      <h1>Create</h1>
    </div>
  )
}
