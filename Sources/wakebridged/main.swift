print("wakebridged")
