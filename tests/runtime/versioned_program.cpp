// Linked with that library and with Margay's.
extern "C" int allocates();
extern "C" int hipFree(void*);

int main() { return allocates() + hipFree(nullptr); }
