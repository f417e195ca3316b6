localStorage.cart ??= crypto.randomUUID()
const cartId = localStorage.cart
const button = document.querySelector('#cart')
const message = document.querySelector('#message')

async function call(method, path, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`/api/${path}`, { method, ...(body ? { headers, body: JSON.stringify(body) } : {}) })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

let items = {}
function show(cart) {
  items = cart.items
  const count = Object.values(items).reduce((sum, quantity) => sum + quantity, 0)
  button.disabled = count === 0
  button.textContent = count === 0 ? 'Cart is empty' : `Check out (${count})`
}

async function attempt(action) {
  try {
    message.textContent = (await action()) ?? ''
  } catch (error) {
    message.textContent = `That did not work: ${error.message}`
  }
}

document.querySelector('.shelf').addEventListener('click', ({ target }) => {
  const productId = target.closest('button')?.closest('.card')?.dataset.id
  if (!productId) return
  void attempt(async () => {
    show(await call('PUT', `carts/${cartId}`, { productId, quantity: (items[productId] ?? 0) + 1 }))
  })
})

button.addEventListener(
  'click',
  () =>
    void attempt(async () => {
      const order = await call('POST', `checkout/${cartId}`, {})
      show({ items: {} })
      return `Thank you! Order ${order.id.slice(0, 8)} over € ${(order.totalCents / 100).toFixed(2)} is on its way.`
    }),
)

async function showServices() {
  const services = await call('GET', 'status').catch(() => [])
  const list = services.map(({ name, ok }) => {
    const item = document.createElement('li')
    item.textContent = name
    item.className = ok ? '' : 'down'
    return item
  })
  document.querySelector('#services').replaceChildren(...list)
}

await attempt(async () => show(await call('GET', `carts/${cartId}`)))
await showServices()
setInterval(showServices, 5000)
