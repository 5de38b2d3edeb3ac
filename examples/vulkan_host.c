/* A host program in C that launches a kernel which `spirula compile --target-env vulkan1.3` made.
 *
 * saxpy.spv is saxpy.cl, compiled. The arguments of a kernel are push constants, at the offsets that `spirula info` shows.
 *
 *   cc vulkan_host.c -lvulkan -o vulkan_host && ./vulkan_host saxpy.spv */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define GROUP 64

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    VkResult result = (call);                                                                                          \
    if (result != VK_SUCCESS) {                                                                                        \
      fprintf(stderr, "%s: error %d\n", #call, result);                                                                \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* The arguments of saxpy. */
struct Arguments {
  uint32_t global_offset[4];
  uint32_t n;
  float a;
  VkDeviceAddress x, y;
};

/* A buffer whose address a kernel gets. */
struct Shared {
  VkBuffer buffer;
  VkDeviceMemory memory;
  VkDeviceAddress address;
  float *mapped;
};

static struct Shared make_buffer(VkPhysicalDevice physical, VkDevice device, const float *numbers, size_t count) {
  struct Shared made;
  VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = count * sizeof *numbers,
                             .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  CHECK(vkCreateBuffer(device, &info, NULL, &made.buffer));
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, made.buffer, &needs);
  VkPhysicalDeviceMemoryProperties types;
  vkGetPhysicalDeviceMemoryProperties(physical, &types);
  VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t type = 0;
  while (!(needs.memoryTypeBits >> type & 1) || (types.memoryTypes[type].propertyFlags & wanted) != wanted) type++;
  VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                     .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags,
                                     .allocationSize = needs.size, .memoryTypeIndex = type};
  CHECK(vkAllocateMemory(device, &allocation, NULL, &made.memory));
  CHECK(vkBindBufferMemory(device, made.buffer, made.memory, 0));
  CHECK(vkMapMemory(device, made.memory, 0, info.size, 0, (void **)&made.mapped));
  memcpy(made.mapped, numbers, info.size);
  VkBufferDeviceAddressInfo of = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = made.buffer};
  made.address = vkGetBufferDeviceAddress(device, &of);
  return made;
}

static VkDevice make_device(VkPhysicalDevice physical, uint32_t *family) {
  VkQueueFamilyProperties families[32];
  uint32_t count = 32;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
  for (*family = 0; *family < count && !(families[*family].queueFlags & VK_QUEUE_COMPUTE_BIT);) ++*family;
  float priority = 1;
  VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = *family,
                                   .queueCount = 1, .pQueuePriorities = &priority};
  VkPhysicalDeviceFeatures core = {.shaderInt64 = VK_TRUE};
  VkPhysicalDeviceVulkan12Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                               .bufferDeviceAddress = VK_TRUE, .vulkanMemoryModel = VK_TRUE};
  VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &features,
                             .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue, .pEnabledFeatures = &core};
  VkDevice device;
  CHECK(vkCreateDevice(physical, &info, NULL, &device));
  return device;
}

static VkPipeline make_pipeline(VkDevice device, VkPipelineLayout layout, const uint32_t *words, size_t bytes) {
  VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes,
                                   .pCode = words};
  VkShaderModule shader;
  CHECK(vkCreateShaderModule(device, &code, NULL, &shader));
  /* Specialisation constants 0 to 2 are the size of a workgroup. */
  uint32_t size[3] = {GROUP, 1, 1};
  VkSpecializationMapEntry entries[3] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}};
  VkSpecializationInfo constants = {3, entries, sizeof size, size};
  VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = shader, .pName = "saxpy", .pSpecializationInfo = &constants},
      .layout = layout};
  VkPipeline pipeline;
  CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
  vkDestroyShaderModule(device, shader, NULL);
  return pipeline;
}

int main(int count, char **words) {
  static uint32_t code[1 << 16];
  FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
  if (!file) return fprintf(stderr, "the module is missing\n"), 1;
  size_t bytes = fread(code, 1, sizeof code, file);
  fclose(file);

  VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
  VkInstanceCreateInfo start = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  VkInstance instance;
  CHECK(vkCreateInstance(&start, NULL, &instance));
  uint32_t one = 1, family;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  vkEnumeratePhysicalDevices(instance, &one, &physical);
  if (!physical) return fprintf(stderr, "there is no device\n"), 1;
  VkDevice device = make_device(physical, &family);

  const float xs[] = {0, 1, 2, 3}, ys[] = {1, 1, 1, 1};
  struct Shared x = make_buffer(physical, device, xs, 4), y = make_buffer(physical, device, ys, 4);
  struct Arguments arguments = {.n = 4, .a = 2, .x = x.address, .y = y.address};

  VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof arguments};
  VkPipelineLayoutCreateInfo shape = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                      .pushConstantRangeCount = 1, .pPushConstantRanges = &range};
  VkPipelineLayout layout;
  CHECK(vkCreatePipelineLayout(device, &shape, NULL, &layout));
  VkPipeline pipeline = make_pipeline(device, layout, code, bytes);

  VkCommandPoolCreateInfo pooled = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = family};
  VkCommandPool pool;
  CHECK(vkCreateCommandPool(device, &pooled, NULL, &pool));
  VkCommandBufferAllocateInfo wanted = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool,
                                        .commandBufferCount = 1};
  VkCommandBuffer launch;
  CHECK(vkAllocateCommandBuffers(device, &wanted, &launch));
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  CHECK(vkBeginCommandBuffer(launch, &begin));
  vkCmdBindPipeline(launch, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdPushConstants(launch, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof arguments, &arguments);
  vkCmdDispatch(launch, (arguments.n + GROUP - 1) / GROUP, 1, 1);
  CHECK(vkEndCommandBuffer(launch));

  VkQueue queue;
  vkGetDeviceQueue(device, family, 0, &queue);
  VkSubmitInfo work = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &launch};
  CHECK(vkQueueSubmit(queue, 1, &work, VK_NULL_HANDLE));
  CHECK(vkQueueWaitIdle(queue));
  printf("%g %g %g %g\n", y.mapped[0], y.mapped[1], y.mapped[2], y.mapped[3]);

  struct Shared all[] = {x, y};
  for (int at = 0; at < 2; at++) {
    vkDestroyBuffer(device, all[at].buffer, NULL);
    vkFreeMemory(device, all[at].memory, NULL);
  }
  vkDestroyCommandPool(device, pool, NULL);
  vkDestroyPipeline(device, pipeline, NULL);
  vkDestroyPipelineLayout(device, layout, NULL);
  vkDestroyDevice(device, NULL);
  vkDestroyInstance(instance, NULL);
  return 0;
}
